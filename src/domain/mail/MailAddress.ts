/** Longest address that mail servers take (RFC 5321, 4.5.3.1). */
const longest = 254

/**
 * A mailbox without a display name. The pattern excludes everything that could end a header line, add a recipient or
 * have a special meaning to a server. It does not support quoted or non-ASCII local parts.
 */
const mailbox = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}@[\p{L}\p{N}](?:[\p{L}\p{N}.-]*[\p{L}\p{N}])?$/u

/** Whether something can be written to under this address. */
export const isMailAddress = (text: string): boolean =>
  text.length <= longest && mailbox.test(text) && !text.includes("..")

/** A text that fits into one line of a header: without line ends and other control characters, at most 200 long. */
export const headerText = (text: string): string =>
  text.replace(/[\p{Cc}\u2028\u2029]+/gu, " ").trim().slice(0, 200).toWellFormed()
