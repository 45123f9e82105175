import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { cachedOr, CacheInvalidation } from "../access/CacheInvalidation.ts"
import { lookupSql } from "../database/DatabaseRepo.ts"
import { Table } from "../records/Table.ts"
import { Time } from "../text/Time.ts"

const Organization = Schema.Struct({
  id: Schema.String,
  slug: Schema.String,
  name: Schema.String,
  logo: Schema.NullOr(Schema.String),
  metadata: Schema.NullOr(Schema.String),
  createdAt: Time
})

export const organizations = new Table("organizations", Organization, { unset: ["logo", "metadata", "createdAt"] })

/** Creates the organization if missing: every tenant row refers to one. */
export const ensureOrganization = (id: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into organizations ${
        organizations.insert(sql, { id: sql`${id}`, slug: sql`${id}`, name: sql`${id}` })
      } on conflict (id) do nothing`
  )

/** Contract, platform §6: 60 s. */
const limits = { capacity: 1_000, lifeMs: 60_000 }

const maxIdLength = 128

export class OrganizationRepo
  extends Context.Service<OrganizationRepo>()("stoa/domain/platform/tenancy/OrganizationRepo", {
    make: Effect.gen(function*() {
      const sql = yield* lookupSql
      const cache = (yield* CacheInvalidation).open<boolean>(limits)
      const find = Effect.fnUntraced(function*(id: string) {
        const rows = yield* sql`select 1 from organizations where id = ${id}`
        return rows.length > 0
      }, Effect.orDie)
      return {
        exists: Effect.fnUntraced(function*(id: string) {
          if (id === "" || id.length > maxIdLength || id.includes("\0")) return false
          return yield* cachedOr(cache, id, `o${id}`, find(id))
        })
      }
    })
  })
{
  static readonly layer = Layer.effect(OrganizationRepo, OrganizationRepo.make)
}
