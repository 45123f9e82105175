import type { RefusedWrite, RemoteField, ValueOf } from "../index.ts"

/** What a store answered of each product, with the values of these fields. */
export const valuesOf = (answer: ReadonlyMap<string, RefusedWrite | ValueOf>, fields: ReadonlyArray<RemoteField>) =>
  Array.from(answer, ([id, of]) => [id, typeof of === "function" ? fields.map(of) : of])
