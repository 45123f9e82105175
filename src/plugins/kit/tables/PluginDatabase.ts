import type { Effect } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { Database } from "../../../domain/platform/database/DatabaseRepo.ts"
import type { Table } from "./Table.ts"
import type { TableHandle } from "./TableHandle.ts"

/** An event of a plugin's own, of the record that it is about. */
export interface Announcement {
  /** Kind of record, for example `vendor`. */
  readonly entityType: string
  readonly entityId: string
  /** The record after what happened, as the API shows it; JSON. */
  readonly payload: object
  readonly before?: object | null
}

/** A machine, a ledger, numbers, a document, rows by owner or a statement: works on the database that `db.use` gives it. */
export interface Usable<Handle> {
  readonly on: (db: PluginDatabase) => Handle
}

/**
 * The database as a plugin has it. What runs inside of `transaction`, or inside of the transaction of a hook, becomes true
 * together or not at all, whichever handles it uses.
 */
export interface PluginDatabase {
  /** The plugin's id, with which the names of its changes begin. */
  readonly plugin: string
  /** The organization's rows of a table of the plugin's. */
  readonly table: <T extends Table>(table: T) => TableHandle<T>
  /** A part of the kit on this database: `db.use(purchaseOrder).move("approve", id)`. */
  readonly use: <Handle>(part: Usable<Handle>) => Handle
  /** Runs the effect in a transaction; a failure takes everything back. */
  readonly transaction: <A, E, R>(work: Effect.Effect<A, E, R>) => Effect.Effect<A, E, R>
  /**
   * Writes an event of the manifest's list into the change log, of one record or of each of several in one statement: it is
   * emitted if the caller's transaction commits. A name that the manifest does not list is a defect.
   */
  readonly announce: (
    event: string,
    of: Announcement | ReadonlyArray<Announcement>
  ) => Effect.Effect<void, never, CurrentActor>
  /** The next value of a counter of the plugin in the organization, and the period that it is of (`numbers`). */
  readonly nextNumber: (
    counter: { readonly kind: string; readonly scope: string; readonly period: string }
  ) => Effect.Effect<{ readonly period: string; readonly value: number }, never, CurrentActor>
  /**
   * Waits for other transactions of the organization that took this turn of the plugin, and holds it until the caller's
   * transaction ends: for rules about several rows, such as that they form no cycle. Take it before anything else. The turn of
   * a table with `excluding` is the one that its writes and locks take: take it first where other rows are locked before them.
   */
  readonly turn: (of: string | Table) => Effect.Effect<void, never, CurrentActor>
  /**
   * The SQL client, for statements a handle cannot express; they belong in files named `*Repo.ts`. Nothing adds the
   * organization to them: each names `organization_id = …` of the actor itself.
   */
  readonly sql: Database
}
