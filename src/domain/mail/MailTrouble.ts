/** Links, addresses, and whatever is long enough to be a key: servers repeat in their refusals what they were sent. */
const unspeakable = /\b[a-z][a-z0-9+.-]*:\/\/\S+|[^\s<>"']+@[^\s<>"']+|[\w+/=-]{24,}/gi

/** What somebody else said of a mail, in a form that may stand in a log and in a job: one line, and nothing private. */
export const withoutPrivate = (text: string): string =>
  text.replace(unspeakable, "…").replace(/[\p{Cc}\s]+/gu, " ").trim().slice(0, 300).toWellFormed() || "no reason given"
