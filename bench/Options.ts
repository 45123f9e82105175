import { parseArgs } from "node:util"

/** What the command line of a benchmark may say. Absent numbers take the default of the program that runs. */
export interface Options {
  /** Programs to run, in order. */
  readonly names: ReadonlyArray<string>
  /** Concurrent shoppers, each with one connection; each sends its next request when the last is answered. */
  readonly users: number | undefined
  /** Length of one measured window. */
  readonly seconds: number | undefined
  /** Load without measuring before each window, in seconds. */
  readonly warmup: number | undefined
  /** Windows of each server; they alternate, so that a slow stretch of the machine meets both. */
  readonly windows: number
  /** Products of the store. */
  readonly products: number
  /** How often something is done where a number and not a time bounds a program. */
  readonly flows: number | undefined
  /** Shows every SQL statement with its calls per flow and mean time. */
  readonly verbose: boolean
  /** Shows from which sources the operations of a flow come. */
  readonly by: boolean
  /** Whether bare names its statements, so that PostgreSQL parses each once per connection. */
  readonly barePrepare: boolean
  /** Shows which variants of a program exist and runs only those that contain this text. */
  readonly only: string | undefined
  /** File that gets all figures as JSON. */
  readonly json: string | undefined
}

const number = (name: string, text: string | undefined): number | undefined => {
  if (text === undefined) return undefined
  const value = Number(text)
  if (!Number.isFinite(value) || value < 0) throw new Error(`--${name}="${text}" is not a number of zero or more.`)
  return value
}

/** Reads the command line; throws with one readable line on what it does not know. */
export const readOptions = (args: ReadonlyArray<string>): Options => {
  const { positionals, values } = parseArgs({
    args: [...args],
    allowPositionals: true,
    options: {
      users: { type: "string" },
      seconds: { type: "string" },
      warmup: { type: "string" },
      windows: { type: "string" },
      products: { type: "string" },
      flows: { type: "string" },
      verbose: { type: "boolean", default: false },
      by: { type: "boolean", default: false },
      "bare-prepare": { type: "string", default: "true" },
      only: { type: "string" },
      json: { type: "string" }
    }
  })
  return {
    names: positionals,
    users: number("users", values.users),
    seconds: number("seconds", values.seconds),
    warmup: number("warmup", values.warmup),
    windows: Math.max(1, number("windows", values.windows) ?? 3),
    products: number("products", values.products) ?? 1000,
    flows: number("flows", values.flows),
    verbose: values.verbose,
    by: values.by,
    barePrepare: values["bare-prepare"] !== "false",
    only: values.only,
    json: values.json
  }
}
