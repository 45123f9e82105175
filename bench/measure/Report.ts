import { writeFile } from "node:fs/promises"
import { short } from "./Figures.ts"

/** A figure beside its bar. */
export interface Verdict {
  readonly what: string
  readonly value: number
  readonly bar: string
  readonly pass: boolean
}

const entries: Array<Readonly<Record<string, unknown>>> = []
const verdicts: Array<Verdict> = []

const print = (line: string) => process.stdout.write(`${line}\n`)

/** A heading of the printed report. */
export const heading = (text: string) => print(`\n## ${text}`)

export const note = (text: string) => print(text)

/** Prints rows under their column names, numbers to the right. */
export const table = (columns: ReadonlyArray<string>, rows: ReadonlyArray<ReadonlyArray<string | number>>) => {
  const cells = rows.map((row) => row.map((cell) => typeof cell === "number" ? short(cell) : cell))
  const widths = columns.map((column, index) => Math.max(column.length, ...cells.map((row) => row[index]?.length ?? 0)))
  const line = (row: ReadonlyArray<string>) =>
    row.map((cell, index) => index === 0 ? cell.padEnd(widths[index] ?? 0) : cell.padStart(widths[index] ?? 0)).join(
      "  "
    )
  print(line(columns))
  for (const row of cells) print(line(row))
}

/** Keeps figures for the JSON file. */
export const record = (name: string, figures: Readonly<Record<string, unknown>>) => {
  entries.push({ name, ...figures })
}

const judge = (verdict: Verdict) => {
  verdicts.push(verdict)
  print(`${verdict.pass ? "PASS" : "MISS"}  ${verdict.what}: ${short(verdict.value)} (bar ${verdict.bar})`)
}

export const atLeast = (what: string, value: number, bar: number, unit = "") =>
  judge({ what, value, bar: `>= ${bar}${unit}`, pass: value >= bar })

export const atMost = (what: string, value: number, bar: number, unit = "") =>
  judge({ what, value, bar: `<= ${bar}${unit}`, pass: value <= bar })

export const exactly = (what: string, value: number, bar: number) =>
  judge({ what, value, bar: `= ${bar}`, pass: value === bar })

/** All verdicts once more at the end, and everything as JSON where a file was named. */
export const finish = async (environment: Readonly<Record<string, string>>, file: string | undefined) => {
  if (verdicts.length > 0) {
    heading("Bars")
    for (const verdict of verdicts) {
      print(`${verdict.pass ? "PASS" : "MISS"}  ${verdict.what}: ${short(verdict.value)} (bar ${verdict.bar})`)
    }
  }
  if (file !== undefined) await writeFile(file, `${JSON.stringify({ environment, entries, verdicts }, null, 2)}\n`)
}
