import { Data } from "effect"

/** The mail can never be delivered: it is not tried again. `message` holds neither an address nor a link. */
export class MailRefused extends Data.TaggedError("MailRefused")<{ readonly message: string }> {}

/** The mail could not be delivered this time. `message` holds neither an address nor a link. */
export class MailDelayed extends Data.TaggedError("MailDelayed")<{ readonly message: string }> {}

/** Links, addresses, and words long enough to be a key: servers repeat in their refusals what they were sent. */
const privateWords = /\b[a-z][a-z0-9+.-]*:\/\/\S+|[^\s<>"']+@[^\s<>"']+|[\w+/=-]{24,}/gi

/** Makes a server's message safe for logs and jobs: one line without links, addresses and keys. */
export const withoutPrivate = (text: string): string =>
  text.replace(privateWords, "…").replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, 300).toWellFormed() || "no reason given"
