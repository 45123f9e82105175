import { Effect, Result, Schema } from "effect"
import { HttpServerRequest } from "effect/http"
import type { HttpApiEndpoint } from "effect/http-api"
import { ValidationFailed } from "../../domain/errors/ApiErrors.ts"
import { issuesOf } from "../../domain/text/Issues.ts"
import { readJson } from "../../domain/text/JsonText.ts"
import { unstorable, unstorableAt } from "../../domain/text/Storable.ts"
import { lengthCheckOf } from "./BodyLengths.ts"

/** Values of a body up to which all its issues are collected; for a larger one only the first is reported. */
const maxValues = 2_000

/** Whether there are more values within a value than that; it looks at no more of them. */
const holdsMoreThan = (maximum: number, value: unknown): boolean => {
  const waiting = [value]
  for (let seen = 0; waiting.length > 0; seen++) {
    if (seen + waiting.length > maximum) return true
    const next = waiting.pop()
    if (typeof next !== "object" || next === null) continue
    const inside: ReadonlyArray<unknown> = Object.values(next)
    if (inside.length > maximum) return true
    waiting.push(...inside)
  }
  return false
}

/** Escapes without which no text of a JSON body is unstorable: NUL, and halves of surrogate pairs. */
const suspicious = /\\u(?:0000|[dD][89a-fA-F])/

/** What is wrong with a JSON value before its schema looks at it, at a cost that no value can drive up. */
export type ValueCheck = (value: unknown, maybeUnstorable: boolean) => ValidationFailed | undefined

/** The check of the values of a schema. */
export const valueCheckOf = (schema: Schema.Constraint): ValueCheck => {
  const tooLong = lengthCheckOf(schema)
  // Bodies are decoded without services.
  const decode = Schema.decodeUnknownResult(schema as Schema.Codec<unknown, unknown>)
  return (value, maybeUnstorable) => {
    const issue = tooLong?.(value)
    if (issue !== undefined) return ValidationFailed.issues([issue])
    const path = maybeUnstorable ? unstorableAt(value) : undefined
    if (path !== undefined) return ValidationFailed.of(path.join("."), unstorable)
    if (!holdsMoreThan(maxValues, value)) return undefined
    const read = decode(value)
    return Result.isFailure(read) ? ValidationFailed.issues(issuesOf(read.failure)) : undefined
  }
}

const jsonPayloadOf = ({ payload }: HttpApiEndpoint.Top): Schema.Constraint | undefined => {
  const sent = payload.get("application/json")
  return sent === undefined || sent.encoding._tag === "Stream" ? undefined : Schema.Union(sent.schemas)
}

/** Checks the JSON body of a request to an endpoint. What is no JSON is left to the endpoint's own decoder. */
export const bodyCheckOf = (
  endpoint: HttpApiEndpoint.Top
): Effect.Effect<void, ValidationFailed, HttpServerRequest.HttpServerRequest> => {
  const schema = jsonPayloadOf(endpoint)
  if (schema === undefined) return Effect.void
  let check: ValueCheck | undefined
  return Effect.gen(function*() {
    const request = yield* HttpServerRequest.HttpServerRequest
    // Cached by the request, so the decoder does not read it again. What cannot be read is the edge's to answer.
    const text = yield* Effect.catch(request.text, Effect.die)
    const read = readJson(text)
    if (Result.isFailure(read)) return
    check ??= valueCheckOf(schema)
    const refused = check(read.success, suspicious.test(text))
    if (refused !== undefined) return yield* refused
  })
}
