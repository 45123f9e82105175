import { Result } from "effect"
import { readJson } from "../text/JsonText.ts"

/*
 * Spreadsheets run a cell that begins with one of these as a formula. Exports put an apostrophe before such text, which
 * a spreadsheet shows as text; imports remove one. Text that already has apostrophes before such a character gets one
 * more, so that every text round-trips.
 */
const formula = /^'*[=+\-@\t\r\n]/
const guarded = /^'+[=+\-@\t\r\n]/

/** A text as a cell of a CSV file. */
export const guardText = (text: string): string => formula.test(text) ? `'${text}` : text

/** The text of a cell. */
export const unguardText = (cell: string): string => guarded.test(cell) ? cell.slice(1) : cell

/** How the texts of a column are read and written. */
export type CellType = "text" | "number" | "boolean" | "json" | "list"

const truths: ReadonlyMap<string, boolean> = new Map([
  ["true", true],
  ["1", true],
  ["yes", true],
  ["false", false],
  ["0", false],
  ["no", false]
])

const integer = /^-?\d{1,16}$/

/** Text that is not JSON stays as it is: the record's schema reports what it expects. */
const parsed = (text: string): unknown => Result.getOrElse(readJson(text), () => text)

const listOf = (text: string): unknown =>
  text.startsWith("[") ? parsed(text) : text.split("|").map((part) => part.trim()).filter((part) => part !== "")

/**
 * The value of a nonempty cell; a value that does not parse as its type stays text, which the record's schema rejects.
 */
export const readCell = (type: CellType, cell: string): unknown => {
  const text = unguardText(cell)
  switch (type) {
    case "text":
      return text
    case "number":
      return integer.test(text.trim()) ? Number(text) : text
    case "boolean":
      return truths.get(text.trim().toLowerCase()) ?? text
    case "json":
      return parsed(text)
    case "list":
      return listOf(text)
  }
}

const isPlain = (part: unknown): boolean =>
  typeof part === "string" && part !== "" && part.trim() === part && !part.includes("|") && !part.startsWith("[")

const listText = (list: ReadonlyArray<unknown>): string =>
  list.every(isPlain) ? guardText(list.join("|")) : JSON.stringify(list)

/** A value as a cell; absent and null are empty. */
export const writeCell = (type: CellType, value: unknown): string => {
  if (value === undefined || value === null) return ""
  if (type === "list" && Array.isArray(value)) return listText(value)
  if (type === "json") return JSON.stringify(value)
  if (value instanceof Date) return value.toISOString()
  return typeof value === "string" ? guardText(value) : String(value)
}
