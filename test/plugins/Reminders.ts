import { Effect } from "effect"
import {
  childOf,
  definePlugin,
  dueTask,
  integer,
  type PluginCall,
  type PluginContext,
  type PluginDatabase,
  type PluginTask,
  table,
  text,
  timestamp,
  uuid
} from "stoa/plugin"

export const reminders = table("reminders_reminders", {
  text,
  dueAt: timestamp,
  sent: integer.default(0)
})
export const letters = childOf(reminders, "reminderId", "reminders_letters", {
  reminderId: uuid.references(reminders),
  sent: integer.default(0)
})

export const remindersPlugin = definePlugin({ id: "reminders", version: "1.0.0", schema: () => [reminders, letters] })

/** Sends what is due, which the test can hold up or break. */
export const sendReminders = (
  context: Pick<PluginContext, "call" | "db">,
  send: (text: string) => Effect.Effect<unknown, { readonly _tag: string }> = () => Effect.void
) =>
  dueTask(context, {
    slug: "reminders/send",
    schedule: "* * * * *",
    of: reminders,
    where: (now) => ({ sent: 0, dueAt: { lte: now } }),
    each: (row, { db }) =>
      Effect.andThen(
        db.table(reminders).update(row.id, { sent: row.sent + 1 }),
        Effect.andThen(send(row.text), db.table(letters).insert({ reminderId: row.id }))
      )
  })

/** Only the database of the tools is used. */
export const contextOf = (db: PluginDatabase) => ({ db, call: Effect.succeed({ db } as PluginCall) })

/** One run of the task; gives its counts. */
export const runOf = ({ handler }: PluginTask) =>
  Effect.suspend(() => {
    // The handler needs neither input nor tools of its job.
    const work = handler({} as Parameters<typeof handler>[0])
    return Effect.isEffect(work) ? work : Effect.promise(() => work)
  }).pipe(Effect.orDie, Effect.map((result) => result?.output))
