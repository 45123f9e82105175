import { appendFileSync, mkdirSync, readFileSync } from "node:fs"
import { expect } from "vitest"
import { isArray, isObject, type Json, mapValues, toJson } from "../../src/http/openapi/Json.ts"
import { type Exchange, fieldsIn, notes } from "./Exchange.ts"

const operations = readFileSync(new URL("operations.txt", import.meta.url), "utf8").trim().split("\n")
  .map((line) => line.split(/\s+/).slice(1).join(" "))
  // A fixed address counts before one with a parameter.
  .toSorted((one, other) => one.split("{").length - other.split("{").length)
  .map((name) => ({ name, matches: new RegExp(`^${name.replace(/\{\w+\}/g, "[^/]+").replaceAll(".", "\\.")}$`) }))

const operationAt = (address: string): string | undefined =>
  operations.find(({ matches }) => matches.test(address))?.name

/** The first entries of each list say what the others are like. */
const cut = (value: Json): Json =>
  isArray(value) ? value.slice(0, 2).map(cut) : isObject(value) ? mapValues(value, cut) : value

const seen = new Set<string>()

const note = (exchange: Exchange) => {
  const { answer, operation, request, status } = exchange
  const shape = [operation, status, ...new Set([...fieldsIn(request, "request"), ...fieldsIn(answer)])].join(" ")
  if (seen.has(shape)) return
  seen.add(shape)
  mkdirSync(notes, { recursive: true })
  appendFileSync(new URL(`${process.pid}.jsonl`, notes), `${JSON.stringify(exchange)}\n`)
}

const isJson = (headers: Headers): boolean => headers.get("content-type")?.includes("json") === true

/** Tests that send what no client would. */
const isNonsense = (): boolean => {
  const { currentTestName = "", testPath = "" } = expect.getState()
  return /anything that is sent|under one Idempotency-Key once|fuzz/.test(`${testPath} ${currentTestName}`)
}

const record = async (request: Request, response: Response) => {
  const operation = operationAt(`${request.method} ${new URL(request.url).pathname}`)
  if (operation === undefined) return
  const [sent, answer] = [await request.text(), await response.json()]
  note({
    operation,
    status: response.status,
    ...(isJson(request.headers) && sent !== "" ? { request: cut(JSON.parse(sent)) } : {}),
    answer: cut(toJson(answer))
  })
}

/*
 * Tests send their requests by `fetch`: in this process it notes each kind of answer. The setup file of
 * `vitest.examples.config.ts` alone.
 */
const send = globalThis.fetch
const recording: typeof fetch = async (input, init) => {
  const request = new Request(input, init)
  const copy = request.clone()
  const response = await send(request)
  if (response.ok && !isNonsense() && isJson(response.headers)) {
    await record(copy, response.clone()).catch(() => undefined)
  }
  return response
}
// Files of tests share a process.
if (send.name !== recording.name) globalThis.fetch = recording
