import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { normalizedMailbox } from "./Email.ts"

/** Stores the e-mail addresses of a table as requests store them now; a text that is no address stays. */
export const normalizesEmails = (table: string) =>
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient
    const rows = yield* sql`select id, email from ${sql(table)}
      where email ~ '[^!-~]' or email ~ '@.*[A-Z]'`
    const changed = rows.flatMap(({ email, id }) => {
      const normalized = normalizedMailbox(String(email))
      return normalized === undefined || normalized === email ? [] : [{ id, email: normalized }]
    })
    yield* sql`update ${sql(table)} set email = sent.email
      from jsonb_to_recordset(${JSON.stringify(changed)}::jsonb) as sent(id uuid, email text)
      where ${sql(table)}.id = sent.id`
  })
