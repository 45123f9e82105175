import { isArray, isObject, type Json } from "../../src/http/openapi/Json.ts"

/** Lines of JSON, a file for each process of a recording. */
export const notes = new URL("../../tmp/examples/", import.meta.url)

/** A request that was done and its answer, lists cut. */
export interface Exchange {
  /** `POST /api/carts/{id}/items` */
  readonly operation: string
  readonly status: number
  /** Absent without a body. */
  readonly request?: Json
  readonly answer: Json
}

/** The places of all fields that have a value. */
export const fieldsIn = (value: Json | undefined, place = ""): ReadonlySet<string> =>
  isArray(value)
    ? new Set(value.flatMap((one) => [...fieldsIn(one, `${place}.`)]))
    : isObject(value)
    ? new Set(Object.entries(value).flatMap(([name, one]) => [...fieldsIn(one, `${place}/${name}`)]))
    : new Set(value === null || value === undefined ? [] : [place])
