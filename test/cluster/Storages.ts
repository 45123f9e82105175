import * as NodeCrypto from "@effect/platform-node/NodeCrypto"
import { Context, Effect, Layer, Option } from "effect"
import { type MessageStorage, SqlMessageStorage } from "effect/cluster"
import { SqlClient } from "effect/sql"
import { ShardTenure } from "../../src/layers/cluster/ActivationLookups.ts"
import { ClusterTables } from "../../src/layers/cluster/ClusterStorage.ts"
import * as GroupCommitMessageStorage from "../../src/layers/cluster/GroupCommitMessageStorage.ts"
import { eventually } from "../support/Eventually.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** The storage under test, below the typed service. */
export class Storage extends Context.Service<Storage, MessageStorage.Encoded>()("stoa/test/cluster/Storage") {}

const below = Layer.mergeAll(ClusterTables.layer, ShardTenure.layer, NodeCrypto.layerDigest).pipe(
  Layer.provideMerge(TestDatabase)
)

/** Effect's own storage: what it does is the contract. */
export const stock = Layer.effect(Storage, SqlMessageStorage.makeEncodedStorage({})).pipe(Layer.provideMerge(below))

/** The group-committing storage. */
export const grouped = Layer.effect(Storage, GroupCommitMessageStorage.makeEncoded).pipe(Layer.provideMerge(below))

/** The storage, with empty tables. */
export const start = Effect.tap(Storage, () => empty)

const empty = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  yield* sql`delete from cluster_replies`
  yield* sql`delete from cluster_messages`
})

/** Repeats a question until it has an answer. */
export const until = <A, R>(check: Effect.Effect<Option.Option<A>, never, R>) =>
  eventually("an answer", Effect.map(check, Option.getOrUndefined))
