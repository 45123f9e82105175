import { notFound } from "../platform/errors/ErrorKinds.ts"

export class DeclineLinkUnknown extends notFound("DeclineLink", "This link is not one of a mail of this store.") {}

/** Header names and values of RFC 2369 and RFC 8058. */
export const declineHeaders = (url: string): Readonly<Record<string, string>> => ({
  "List-Unsubscribe": `<${url}>`,
  "List-Unsubscribe-Post": "List-Unsubscribe=One-Click"
})

export const declinePath = "/api/mail/unsubscribe"
