import type { Import } from "../../domain/import-export/Import.ts"

const width = 30

const grouped = (count: number): string => count.toLocaleString("en")

const countsOf = ({ created, refused, unchanged, updated }: Import): string =>
  `${grouped(created)} created, ${grouped(updated)} updated, ${grouped(unchanged)} unchanged, ${
    grouped(refused)
  } refused`

const shareOf = ({ read, rows }: Import): number => rows === 0 ? 1 : read / rows

const bar = (share: number): string => {
  const done = Math.round(share * width)
  return `${"█".repeat(done)}${"░".repeat(width - done)}`
}

/** How far an import is, as a line of a terminal. */
export const barOf = (record: Import): string => {
  const share = shareOf(record)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  return `${bar(share)} ${percent}  ${grouped(record.read)} of ${grouped(record.rows)}  ${countsOf(record)}`
}

/** The same as a line of a log. */
export const lineOf = (record: Import): string =>
  `${grouped(record.read)} of ${grouped(record.rows)} records: ${countsOf(record)}`

/** Where lines are written. */
export interface Screen {
  readonly isTTY?: boolean
  readonly write: (text: string) => unknown
}

/** Shows how far an import is: one line that changes on a terminal, a line for each tenth elsewhere. */
export const progressOn = (screen: Screen) => {
  let shown = -1
  return (record: Import): void => {
    if (screen.isTTY === true) {
      screen.write(`\r\u001b[2K${barOf(record)}`)
      return
    }
    const tenth = Math.floor(shareOf(record) * 10)
    if (tenth === shown || record.state === "receiving") return
    shown = tenth
    screen.write(`${lineOf(record)}\n`)
  }
}
