import { Effect } from "effect"
import { SqlClient, type SqlError } from "effect/sql"

/**
 * Makes the organization exist that the deployment names; one that is there stays as it is. Every row of a tenant
 * refers to its organization, so without it no write of the deployment would succeed.
 */
export const ensureOrganization = (id: string): Effect.Effect<void, SqlError.SqlError, SqlClient.SqlClient> =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`insert into organizations (id, slug, name) values (${id}, ${id}, ${id}) on conflict (id) do nothing`
  )
