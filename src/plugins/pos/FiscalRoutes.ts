import { Effect, Option, Stream } from "effect"
import { Moment, type PluginCall, Until } from "stoa/plugin"
import { fiscalRecords } from "./FiscalRecords.ts"
import { PosOptions } from "./PosOptions.ts"
import { admin, routes } from "./Terminals.ts"

const pageSize = 1_000

/** The records of a time as JSON lines, in the order in which they were made. */
const linesBetween = ({ db }: PluginCall, from: Date, to: Date) =>
  Stream.encodeText(Stream.paginate("", (after) => {
    const where = { createdAt: { gte: from, lt: to }, ...(after === "" ? {} : { id: { gt: after } }) }
    return Effect.map(db.table(fiscalRecords).list(where, { order: ["id"], limit: pageSize }), (page) => {
      const next = page.length < pageSize ? undefined : page.at(-1)?.id
      return [page.map((record) => `${JSON.stringify(record)}\n`), Option.fromUndefinedOr(next)] as const
    })
  }))

/** Fiscal records for an authority (contract-tills-channels §A.8). */
export const fiscalRoutes = [
  routes.raw("GET", "/fiscal/export", {
    summary: "Export the fiscal records of a time",
    description: "In the form of the fiscal adapter, else as JSON lines: the chain of each terminal with its hashes.",
    permission: admin,
    rate: "strict",
    produces: "application/x-ndjson",
    query: { from: Moment, to: Until }
  }, (call) =>
    Effect.map(PosOptions, ({ fiscal }) => {
      const { from, to } = call.query
      return {
        headers: { "content-disposition": "attachment; filename=fiscal-records.ndjson" },
        body: fiscal?.export?.(from, to) ?? linesBetween(call, from, to)
      }
    }))
]
