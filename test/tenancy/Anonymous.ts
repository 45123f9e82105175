import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, systemActor } from "../../src/domain/access/Actor.ts"
import { rowsAreTaken } from "./Taken.ts"

const as = (organization: string) => Effect.provideService(CurrentActor, systemActor(organization))

/** Asks as the organization whose records these are, and as another one. */
export const here = as("org_default")
export const elsewhere = as("org_elsewhere")

export const openElsewhere = Effect.flatMap(
  SqlClient.SqlClient,
  (sql) =>
    sql`insert into organizations (id, slug, name) values ('org_elsewhere', 'elsewhere', 'Elsewhere')
      on conflict do nothing`
)

/** Asks as the other one while somebody of ours is at all of our rows: it waits for nobody. */
export const outsider = <A, E, R>(body: Effect.Effect<A, E, R>) =>
  Effect.scoped(Effect.andThen(rowsAreTaken("org_default"), Effect.timeout(elsewhere(body), "5 seconds")))

/** A row of ours is in the other organization's name from now on, whatever it belongs to. */
export const givenAway = (table: string, column: string, id: string) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) => sql`update ${sql(table)} set organization_id = 'org_elsewhere' where ${sql(column)} = ${id}::uuid`
  )
