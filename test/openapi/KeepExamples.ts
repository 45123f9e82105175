import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { isArray, isObject, type Json, type JsonObject } from "../../src/http/openapi/Json.ts"
import { type Exchange, fieldsIn, notes } from "./Exchange.ts"

/** Bodies of a larger exchange are taken only where there is none that is smaller. */
const typicalSize = 3_000

const sizeOf = (value: Json): number => JSON.stringify(value).length

/** Negative where the one example shows more than the other. */
const byFields = (one: JsonObject, other: JsonObject): number => {
  const [size, another] = [sizeOf(one), sizeOf(other)]
  return Math.max(size, another) > typicalSize ? size - another : fieldsIn(other).size - fieldsIn(one).size
}

const byText = (one: JsonObject, other: JsonObject): number =>
  sizeOf(one) - sizeOf(other) || (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)

/** Whether a client could have written it: tests also send odd signs and the smallest of numbers. */
const isPlain = (value: Json): boolean =>
  typeof value === "string"
    ? !/[`~\p{Emoji_Presentation}\p{Cc}]/u.test(value)
    : typeof value === "number"
    ? !String(value).includes("e")
    : isArray(value)
    ? value.every(isPlain)
    : !isObject(value) || Object.entries(value).every(([name, one]) => /^[\w.:@/ *-]+$/.test(name) && isPlain(one))

const notedExchanges = (): ReadonlyArray<Exchange> => {
  const lines = readdirSync(notes).flatMap((name) => readFileSync(new URL(name, notes), "utf8").trim().split("\n"))
  const exchanges = [...new Set(lines)].map((line): Exchange => JSON.parse(line))
  return exchanges.filter(({ answer, request = null }) => isPlain(request) && isPlain(answer))
}

/** Chooses examples among what was noted. Only the process that keeps them loads the document. */
const chooser = async () => {
  const { bodies, refusalOf, schemas } = await import("./JsonBodies.ts")
  const { withSamples } = await import("./SampleValues.ts")
  const parts = Map.groupBy(bodies, ({ operation }) => operation)

  const exampleOf = ({ answer, operation, request, status }: Exchange): JsonObject => {
    const known = (parts.get(operation) ?? []).map(({ media, part }) => [part, media["schema"] ?? {}] as const)
    const sent: JsonObject = { ...(request === undefined ? {} : { request }), [status]: answer }
    const shown = known.flatMap(([part]) => sent[part] === undefined ? [] : [[part, sent[part]] as const])
    const found = withSamples(schemas, { properties: Object.fromEntries(known) }, Object.fromEntries(shown))
    return isObject(found) ? found : {}
  }

  const fits = async (operation: string, example: JsonObject): Promise<boolean> => {
    for (const [part, body] of Object.entries(example)) {
      if (await refusalOf(operation, part, body) !== undefined) return false
    }
    return true
  }

  /** What is kept stays while it fits and no other shows more: another recording leaves the file as it is. */
  return async (operation: string, exchanges: ReadonlyArray<Exchange>, kept: JsonObject): Promise<JsonObject> => {
    const made = new Map(exchanges.map(exampleOf).map((example) => [JSON.stringify(example), example]))
    const found = [...made.values()].toSorted((one, other) => byFields(one, other) || byText(one, other))
    const isKept = Object.keys(kept).length > 0 && await fits(operation, kept)
    for (const example of found) {
      if (isKept && byFields(example, kept) >= 0) return kept
      if (await fits(operation, example)) return example
    }
    return isKept ? kept : {}
  }
}

const textOf = (examples: JsonObject): string =>
  `{\n${
    Object.entries(examples).map(([name, one]) => `  ${JSON.stringify(name)}: ${JSON.stringify(one)}`).join(",\n")
  }\n}\n`

/** The part of an example that shows an answer, with the request. */
const ofStatus = (example: Json | undefined, status: string): JsonObject => {
  if (!isObject(example) || example[status] === undefined) return {}
  const { request } = example
  return { ...(request === undefined ? {} : { request }), [status]: example[status] }
}

/** Writes the examples beside the document and into the folders of the plugins. */
export const keepExamples = async (): Promise<void> => {
  const { bodies, served } = await import("./JsonBodies.ts")
  const { readExamples } = await import("../../src/http/openapi/Recorded.ts")
  const choose = await chooser()
  const noted = Map.groupBy(notedExchanges(), ({ operation, status }) => `${operation} ${status}`)
  const answers = bodies.filter(({ part }) => part !== "request")
  for (const [href, ofFile] of Map.groupBy(answers, ({ operation }) => served.get(operation)?.file.href ?? "")) {
    const file = new URL(href)
    const before = readExamples(file)
    const chosen: Record<string, JsonObject> = {}
    for (const { operation, part } of ofFile.toSorted((one, other) => one.operation < other.operation ? -1 : 1)) {
      const kept = ofStatus(before[operation], part)
      const example = await choose(operation, noted.get(`${operation} ${part}`) ?? [], kept)
      if (Object.keys(example).length > 0) chosen[operation] = { ...example, ...chosen[operation] }
    }
    writeFileSync(file, textOf(chosen))
  }
}

/** Before the tests, and after them. */
export default (): () => Promise<void> => {
  rmSync(notes, { recursive: true, force: true })
  mkdirSync(notes, { recursive: true })
  return keepExamples
}
