import type { MailOf, MailTemplate } from "../../domain/mail/Mail.ts"
import type { RenderedMail } from "./MailTransport.ts"

/** A line of the list in a mail; `amount` is written as it is to be read. */
export interface ContentLine {
  readonly label: string
  readonly amount: string
}

/** What a mail says, in plain text: `MailLayout` makes text and HTML of it. */
export interface MailContent {
  readonly subject: string
  /** What it says first. */
  readonly paragraphs: ReadonlyArray<string>
  /** One link, shown as a button and written out. Anything but http and https is left out. */
  readonly button?: { readonly label: string; readonly url: string }
  readonly lines?: ReadonlyArray<ContentLine>
  /** Under the lines; the last one stands out. */
  readonly totals?: ReadonlyArray<ContentLine>
  /** What it says last, smaller. */
  readonly notes?: ReadonlyArray<string>
}

/** What a writer knows besides the data of its template. */
export interface MailScene {
  readonly storeName: string
  /** Language tag, canonical. */
  readonly locale: string
}

/** Writes the mails of a template: content that is laid out like the others, or whole texts that are sent as they are. */
export type MailWriter<T extends MailTemplate> = (
  data: MailOf<T>["data"],
  scene: MailScene
) => MailContent | RenderedMail

/** A writer for each template. */
export type MailWriters = { readonly [T in MailTemplate]: MailWriter<T> }

/** Writers by language tag; what a language lacks is taken from its parent (`de` for `de-AT`), then from English. */
export type MailLocales = Readonly<Record<string, Partial<MailWriters>>>
