import { notFound } from "../platform/errors/ErrorKinds.ts"

/** A category of mails to an address. */
export interface MailCategory {
  readonly to: string
  readonly category: string
}

/** 404 for a token that the deployment has not made, or no longer has the key of. */
export class DeclineLinkUnknown extends notFound("DeclineLink", "This link is not one of a mail of this store.") {}

/** Header names and values of RFC 2369 and RFC 8058. */
export const declineHeaders = (url: string): Readonly<Record<string, string>> => ({
  "List-Unsubscribe": `<${url}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
})

/** `GET` shows a page with a button, and `POST` declines (docs/mail.md). */
export const declinePath = "/api/mail/unsubscribe"
