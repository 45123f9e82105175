import { runLoad } from "../load/Load.ts"
import type { LoadJob, LoadReport } from "../load/Messages.ts"
import type { BenchPostgres } from "../servers/BenchPostgres.ts"
import type { ChildServer } from "../servers/ChildServer.ts"
import { type DatabaseUse, databaseWindow } from "./DatabaseUse.ts"
import { lessUse, type ProcessUse, treeUseOf, useOf } from "./ProcessUse.ts"

/** A server under load: its process and the database it works on. */
export interface Target {
  readonly name: "stoa" | "bare"
  readonly server: ChildServer
  /** A second process, which is not measured and gets half of the load. */
  readonly beside?: ChildServer
  readonly database: string
}

/** Everything one window showed. */
export interface Window {
  readonly target: Target["name"]
  readonly load: LoadReport
  readonly database: DatabaseUse
  readonly server: ProcessUse
  readonly postgres: ProcessUse
}

/** Puts one load on a server and measures all processes and the database while it lasts. */
export const measureWindow = async (
  postgres: BenchPostgres,
  target: Target,
  job: Omit<LoadJob, "origins">
): Promise<Window> => {
  const origins = [target.server, ...(target.beside === undefined ? [] : [target.beside])].map(({ origin }) => origin)
  const { around, report } = await runLoad({ ...job, origins }, async () => {
    const statements = await databaseWindow(postgres.admin, target.database)
    const [server, backends] = await Promise.all([useOf(target.server.pid), treeUseOf(postgres.pid)])
    return async () => {
      const [serverAfter, backendsAfter] = await Promise.all([useOf(target.server.pid), treeUseOf(postgres.pid)])
      return {
        server: lessUse(serverAfter, server),
        postgres: lessUse(backendsAfter, backends),
        database: await statements()
      }
    }
  })
  return { target: target.name, load: report, ...around }
}

/** All flows of a window, also those that were refused. */
export const flowsOf = ({ load }: Window): number =>
  load.done + Object.values(load.failed).reduce((sum, count) => sum + count, 0)
