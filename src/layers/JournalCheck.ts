import { Console, Data, Effect, Layer } from "effect"
import { type ChainReport, JournalCheckRepo, journalCheckRepoLayer } from "../domain/events/JournalCheckRepo.ts"
import { databaseApp } from "./App.ts"
import type { AppSettings } from "./config/AppConfig.ts"

/** The journal is not what was written. */
export class JournalBroken extends Data.TaggedError("JournalBroken")<{ readonly message: string }> {}

const lineOf = ({ broken, end, entries, organizationId }: ChainReport): string =>
  broken === null
    ? `${organizationId}: ${entries} entries up to position ${end.position} are as they were written, last hash ${end.hash}`
    : `${organizationId}: BROKEN, ${broken}`

/** One line for each organization; fails when a chain does not hold. */
export const verifyJournal = Effect.gen(function*() {
  const reports = yield* (yield* JournalCheckRepo).verify
  for (const report of reports) yield* Console.log(lineOf(report))
  const broken = reports.filter((report) => report.broken !== null)
  if (broken.length > 0) {
    return yield* new JournalBroken({ message: `the journal of ${broken.length} organization(s) was changed` })
  }
})

/** The same on the database of the settings, for the command line. */
export const verifyJournalOf = (settings: AppSettings) =>
  Effect.provide(verifyJournal, Layer.provide(journalCheckRepoLayer, databaseApp(settings)))
