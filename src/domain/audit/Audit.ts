import { Context, type Effect, Schema } from "effect"
import type { CurrentActor } from "../platform/access/Actor.ts"
import { about } from "../platform/hints/Hints.ts"
import { OrganizationId, Uuid } from "../platform/ids/Id.ts"
import type { PageOf, PageRequest } from "../platform/paging/Paging.ts"
import { Time } from "../platform/text/Time.ts"

const Json = Schema.Record(Schema.String, Schema.Unknown)

/** A change of one record (contract, platform §10). */
export const AuditEntry = Schema.Struct({
  id: Uuid,
  organizationId: OrganizationId,
  entityType: Schema.String.pipe(about("Kind of the changed record, such as order.")),
  entityId: Schema.String,
  event: Schema.String.pipe(about("Name of the change, such as orders.statusChange.")),
  payload: Json.pipe(about("The record after the change, without secrets.")),
  before: Schema.NullOr(Json).pipe(about("The record before the change; null: it is new.")),
  actorId: Schema.NullOr(Schema.String),
  actorType: Schema.Literals(["user", "api_key"]).pipe(about("Tells what `actorId` is.")),
  requestId: Schema.NullOr(Schema.String),
  ip: Schema.NullOr(Schema.String),
  userAgent: Schema.NullOr(Schema.String),
  source: Schema.Literals(["rest", "local", "job"]).pipe(
    about("Channel of the change: rest is the API, job a job, local code of the service.")
  ),
  position: Schema.NullOr(Schema.Int).pipe(
    about("Place in the organization's chain; null for a moment, until it is assigned.")
  ),
  createdAt: Time
}).annotate({ identifier: "AuditEntry" })
export type AuditEntry = typeof AuditEntry.Type

/** Filters of entries; an absent field matches all. `to` is exclusive. */
export interface AuditFilter {
  readonly entityType?: string | undefined
  readonly entityId?: string | undefined
  readonly event?: string | undefined
  readonly actorId?: string | undefined
  readonly from?: Date | undefined
  readonly to?: Date | undefined
}

/** Short event names of older clients (contract §0.6). */
const aliases: ReadonlyMap<string, ReadonlyArray<string>> = new Map([
  ["created", ["catalog.create", "orders.create", "customers.create", "pricing.create", "promotions.create"]],
  ["updated", ["catalog.update", "customers.update", "pricing.update", "promotions.update"]],
  ["status_changed", ["orders.statusChange"]],
  ["adjusted", ["inventory.afterAdjust"]]
])

export const eventsNamed = (event: string): ReadonlyArray<string> => aliases.get(event) ?? [event]

const maxListLength = 10

const shorten = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.length > maxListLength ? `[${value.length} items]` : value.map(shorten)
  return typeof value === "object" && value !== null ? shortened(value) : value
}

export const shortened = (record: object): Readonly<Record<string, unknown>> =>
  Object.fromEntries(Object.entries(record).map(([key, value]) => [key, shorten(value)]))

/** The audit trail (spec §4 Audit, contract, platform §10). */
export class Audit extends Context.Service<Audit, {
  /** A page of entries, newest first; includes changes as soon as they are committed. */
  readonly list: (filter: AuditFilter, page: PageRequest) => Effect.Effect<PageOf<AuditEntry>, never, CurrentActor>
}>()("stoa/domain/audit/Audit") {}
