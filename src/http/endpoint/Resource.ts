import type { Schema } from "effect"
import { HttpApiEndpoint, HttpApiSchema, OpenApi } from "effect/http-api"
import { Uuid } from "../../domain/ids/Id.ts"
import { pageQuery } from "../../domain/paging/Paging.ts"
import { Data, Deleted, Page } from "../envelope/Envelope.ts"
import { IdempotentChange } from "../middleware/Idempotency.ts"

/*
 * The usual endpoints of a kind of record: envelope, paging, status and idempotency are said here once, and a group says
 * name, path, shapes and what a reader of the document should know. `:id` is the record's UUID.
 */

type Path = `/api/${string}`

const one = { id: Uuid }

/** What the document says of an endpoint. */
export const summary = (text: string, description?: string) =>
  OpenApi.annotations({ summary: text, ...(description === undefined ? {} : { description }) })

/** GET: a page of records (spec §8). */
export const lists = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.get(name, path, { query: pageQuery, success: Page(record) }).annotateMerge(summary(...texts))

/** POST: a new record, 201; its change log entry, the row and the mark of the `Idempotency-Key` are one transaction. */
export const creates = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.post(name, path, { payload, success: Data(record).pipe(HttpApiSchema.status(201)) })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

/** GET of one record. */
export const reads = <const Name extends string, const P extends Path, T, E>(
  name: Name,
  path: P,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) => HttpApiEndpoint.get(name, path, { params: one, success: Data(record) }).annotateMerge(summary(...texts))

/** PATCH: absent fields stay. */
export const changes = <const Name extends string, const P extends Path, Payload extends Schema.Top, T, E>(
  name: Name,
  path: P,
  payload: Payload,
  record: Schema.Codec<T, E>,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.patch(name, path, { params: one, payload, success: Data(record) })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))

/** DELETE: 200 `{ data: { deleted: true } }`. */
export const removes = <const Name extends string, const P extends Path>(
  name: Name,
  path: P,
  ...texts: Parameters<typeof summary>
) =>
  HttpApiEndpoint.delete(name, path, { params: one, success: Deleted })
    .annotate(IdempotentChange, true).annotateMerge(summary(...texts))
