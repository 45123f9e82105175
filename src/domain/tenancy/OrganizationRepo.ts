import { Context, Effect, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { lookupSql } from "../modules/LookupRepo.ts"

/**
 * Creates the deployment's organization if it does not exist. Every tenant row refers to its organization, so without
 * it every write would fail.
 */
export const ensureOrganization = (id: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id}) on conflict (id) do nothing`
  )

/** All SQL of organizations. */
export class OrganizationRepo extends Context.Service<OrganizationRepo>()("stoa/domain/tenancy/OrganizationRepo", {
  make: Effect.map(lookupSql, (sql) => ({
    exists: Effect.fnUntraced(function*(id: string) {
      const rows = yield* sql`select 1 from organizations where id = ${id}`
      return rows.length > 0
    }, Effect.orDie)
  }))
}) {
  static readonly layer = Layer.effect(OrganizationRepo, OrganizationRepo.make)
}
