import type { MailOf, MailTemplate } from "./Mail.ts"

/** The texts of a mail as they are sent. */
export interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

/** A line of the list in a mail; `amount` is formatted. */
export interface ContentLine {
  readonly label: string
  readonly amount: string
}

/** The content of a mail in plain text: `layOut` renders text and HTML of it. */
export interface MailContent {
  readonly subject: string
  /** The beginning. */
  readonly paragraphs: ReadonlyArray<string>
  /** One link, as a button and as text. Other schemes than http and https are omitted. */
  readonly button?: { readonly label: string; readonly url: string }
  readonly lines?: ReadonlyArray<ContentLine>
  /** Below the lines; the last one is emphasized. */
  readonly totals?: ReadonlyArray<ContentLine>
  /** The end, in small print. */
  readonly notes?: ReadonlyArray<string>
}

/** What a writer receives besides the data of its template. */
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

export type MailWriters = { readonly [T in MailTemplate]: MailWriter<T> }

/** Writers by language tag; what a language lacks is taken from its parent (`de` for `de-AT`), then from English. */
export type MailLocales = Readonly<Record<string, Partial<MailWriters>>>
