import { Cause, Console, Logger, References } from "effect"
import { inspect, styleText } from "node:util"

/** Annotations under which libraries name themselves and their parts: they tell the one who reads the line nothing. */
const ofLibraries = new Set(["package", "service", "module", "fiber", "runner"])

/** Where actors can be reached, from the cluster: no address for people, who would take it for the service's. */
const isForMachines = (message: string): boolean => message.startsWith("Listening on: ")

const colors = { Fatal: "red", Error: "red", Warn: "yellow", Info: "green", Debug: "gray", Trace: "gray" } as const

const wordOf = (level: string): string => {
  const word = level.toLowerCase().padEnd(5)
  const color = level in colors ? colors[level as keyof typeof colors] : undefined
  return color === undefined || !process.stdout.isTTY ? word : styleText(color, word)
}

const textOf = (part: unknown): string => typeof part === "string" ? part : inspect(part, { depth: 4 })

const indented = (text: string): string => text.replaceAll("\n", "\n  ")

const timeOf = (date: Date): string => date.toTimeString().slice(0, 8)

/** Log lines for people: the time, how grave it is, what happened, and below it why. */
export const prettyLog = Logger.make<unknown, void>(({ cause, date, fiber, logLevel, message }) => {
  const parts = (Array.isArray(message) ? message : [message]).map(textOf)
  if (logLevel === "Info" && isForMachines(parts[0] ?? "")) return
  const annotations = Object.entries(fiber.getRef(References.CurrentLogAnnotations))
    .filter(([name]) => !ofLibraries.has(name)).map(([name, value]) => `${name}=${textOf(value)}`)
  const said = [...parts, ...annotations].join(" ")
  const why = cause.reasons.length === 0 ? "" : `\n${Cause.pretty(cause)}`
  fiber.getRef(Console.Console).log(indented(`${timeOf(date)} ${wordOf(logLevel)} ${said}${why}`))
})
