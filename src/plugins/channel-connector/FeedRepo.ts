import { Schema } from "effect"
import { rowsOf, statement } from "stoa/plugin"

const ids = rowsOf(Schema.Struct({ id: Schema.String }))

/** Ids of visible products after one of them, in their order: pages stay right while products come and go. */
export const listedEntities = statement(
  "FeedRepo.listedEntities",
  function*(sql, organizationId, after: string, limit: number) {
    const found = yield* ids(sql`select id from plugin_entities
      where organization_id = ${organizationId} and status = 'active' and is_visible and id > ${after}::uuid
      order by id limit ${limit}`)
    return found.map(({ id }) => id)
  }
)
