export type Json = null | boolean | number | string | JsonArray | JsonObject

export type JsonArray = ReadonlyArray<Json>

export interface JsonObject {
  readonly [key: string]: Json
}

export const isObject = (value: Json | undefined): value is JsonObject =>
  typeof value === "object" && value !== null && !isArray(value)

export const isArray = (value: Json | undefined): value is JsonArray => Array.isArray(value)

export const list = (value: Json | undefined): JsonArray => (isArray(value) ? value : [])

export const mapValues = (value: Json | undefined, change: (value: Json, key: string) => Json): JsonObject =>
  isObject(value) ? Object.fromEntries(Object.entries(value).map(([key, one]) => [key, change(one, key)])) : {}

export const without = (value: JsonObject, ...keys: ReadonlyArray<string>): JsonObject =>
  Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)))

/** A copy without members that JSON cannot carry. */
export const toJson = (value: unknown): Json => {
  if (value === null || typeof value === "boolean" || typeof value === "string") return value
  if (typeof value === "number") return Number.isFinite(value) ? value : null
  if (Array.isArray(value)) return value.map(toJson)
  if (typeof value !== "object") return null
  return Object.fromEntries(
    Object.entries(value).filter(([, one]) => one !== undefined && typeof one !== "function")
      .map(([key, one]) => [key, toJson(one)])
  )
}

export const distinct = (values: JsonArray): JsonArray => {
  const seen = new Map(values.map((value) => [JSON.stringify(value), value]))
  return [...seen.values()]
}
