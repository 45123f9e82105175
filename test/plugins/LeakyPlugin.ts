import { Effect, Schema } from "effect"
import { definePlugin, group, table, text } from "stoa/plugin"

const notes = table("leaky_notes", { body: text })
const routes = group("Leaky", "/leaky")

/** A plugin that breaks each of the rules once, for the tests of the checks that find that. */
export const leaky = definePlugin({
  id: "leaky",
  version: "1.0.0",
  permissions: [{ scope: "leaky:use", description: "Use it" }],
  schema: () => [notes],
  routes: () => [
    // The query does not filter by organization.
    routes.get("/notes/:id", { permission: "leaky:use", success: Schema.Unknown }).handle(({ db, params }) =>
      Effect.orDie(db.sql`select id, body from leaky_notes where id <> ${params.id}::uuid`)
    ),
    // A database error for what the schema admits.
    routes.post("/numbers", {
      permission: "leaky:use",
      input: Schema.Struct({ number: Schema.String }),
      success: Schema.Unknown
    }).handle(({ db, input }) => Effect.orDie(db.sql`select ${input.number}::int4`)),
    // Lets everybody in who holds anything at all, and everybody else too.
    routes.put("/open", { admits: { rule: () => true, missing: "leaky:use" }, success: Schema.Null }).handle(() =>
      Effect.succeed(null)
    )
  ]
})
