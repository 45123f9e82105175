/** Maximum length of a job's error text. */
const maxErrorLength = 10_000

/** Half a surrogate pair or NUL as `JSON.stringify` writes them; neither fits into jsonb. */
const unstorable = /(?<!\\)(?:\\\\)*\\u(?:0000|d[89ab][0-9a-f]{2})/

/** What `error` holds of a failure: its message, in a form that the database takes. */
export const errorText = (error: unknown): string => {
  const text = error instanceof Error ? error.message || error.name : toChange(error)
  return text.replaceAll("\0", "").toWellFormed().slice(0, maxErrorLength).toWellFormed() ||
    "It failed without a reason."
}

const toChange = (error: unknown): string => {
  if (typeof error === "string") return error
  try {
    return JSON.stringify(error) ?? String(error)
  } catch {
    return String(error)
  }
}

/** The JSON text of an output; null without output; undefined if it cannot be stored. */
export const outputText = (output: unknown): string | null | undefined => {
  try {
    const text = JSON.stringify(output)
    return text === undefined ? null : unstorable.test(text) ? undefined : text
  } catch {
    return undefined
  }
}
