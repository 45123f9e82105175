import { Effect } from "effect"
import type { PluginContext } from "stoa/plugin"
import { type Due, latestRecords } from "./MessagesRepo.ts"
import { valueAt } from "./Rendering.ts"
import type { SendWhile } from "./SendWhile.ts"
import { templates } from "./Templates.ts"

/** The first field of a record that has another value than its condition asks for. */
export const unmet = (condition: SendWhile, record: object): string | undefined =>
  Object.entries(condition).find(([path, values]) => !values.some((value) => value === valueAt(record, path)))?.[0]

/** Messages of a batch whose condition no longer holds, with the reason. Two statements at most, for messages of events alone. */
export const outdated = Effect.fn("Notifications.outdated")(function*(
  { db }: PluginContext,
  batch: ReadonlyArray<Due>
) {
  const templateIds = new Set(batch.flatMap(({ eventId, templateId }) => eventId === null ? [] : (templateId ?? [])))
  if (templateIds.size === 0) return []
  const found = yield* db.table(templates).list({ id: { in: [...templateIds] }, sendWhile: { not: null } })
  const conditions = new Map(found.map(({ id, sendWhile }) => [id, sendWhile]))
  const asked = batch.filter(({ templateId }) => templateId !== null && conditions.has(templateId))
  if (asked.length === 0) return []
  const rows = yield* db.use(latestRecords)(asked.flatMap(({ eventId }) => eventId ?? []))
  const records = new Map(rows.map(({ eventId, record }) => [eventId, record]))
  return asked.flatMap((due) => {
    const condition = conditions.get(due.templateId ?? "")
    const record = records.get(due.eventId ?? "")
    const field = condition && record && unmet(condition, record)
    return field === undefined || field === null
      ? []
      : [{ due, reason: `The condition of ${field} does not hold any more.`.slice(0, 255) }]
  })
})
