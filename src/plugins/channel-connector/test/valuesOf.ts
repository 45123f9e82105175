import type { RefusedWrite, RemoteField, ValueOf } from "../index.ts"

/** Answers of a store by product, with the values of these fields. */
export const valuesOf = (answer: ReadonlyMap<string, RefusedWrite | ValueOf>, fields: ReadonlyArray<RemoteField>) =>
  Array.from(answer, ([id, of]) => [id, typeof of === "function" ? fields.map(of) : of])
