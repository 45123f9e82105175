import type { MailOf, MailTemplate } from "./Mail.ts"

export interface RenderedMail {
  readonly subject: string
  readonly text: string
  readonly html: string
}

export interface ContentLine {
  readonly label: string
  readonly amount: string
}

export interface MailContent {
  readonly subject: string
  readonly paragraphs: ReadonlyArray<string>
  /** Other schemes than http and https are omitted. */
  readonly button?: { readonly label: string; readonly url: string }
  readonly lines?: ReadonlyArray<ContentLine>
  readonly totals?: ReadonlyArray<ContentLine>
  readonly notes?: ReadonlyArray<string>
}

export interface MailScene {
  readonly storeName: string
  readonly locale: string
  /** Declines mails of this category; texts without it get it at their end. Absent: a transactional mail. */
  readonly unsubscribeUrl?: string | undefined
}

export type MailWriter<T extends MailTemplate> = (
  data: MailOf<T>["data"],
  scene: MailScene
) => MailContent | RenderedMail

export type MailWriters = { readonly [T in MailTemplate]: MailWriter<T> }

/** Writers by language tag; missing ones come from the parent (`de` for `de-AT`), then from English. */
export type MailLocales = Readonly<Record<string, Partial<MailWriters>>>
