import { relative } from "node:path"
import { BaseSequencer, type TestSpecification } from "vitest/node"

/**
 * Files that take longest, in this order: they kill processes and wait until others notice, or start many. One of them begun
 * last would be waited for by all.
 */
const long = [
  // They collect garbage again and again: of processes that have no other files behind them, which is a fraction of the work.
  "import-export/ImportMemory",
  "scenarios/Crashes",
  "scenarios/JobKills",
  "checkout/CheckoutRepeats",
  "scenarios/LostAnswers",
  "payments/Interleavings",
  "events/EveryMutation",
  "access/Matrix",
  "fuzz/Document",
  "orders/StaleOrders",
  "scenarios/RelayKills",
  "scenarios/RefundKills",
  "openapi/GeneratedTypes",
  "examples/Examples",
  "postgres/Crashes",
  "scenarios/WebhookKills",
  "scenarios/UnknownPayments",
  "scenarios/Replay",
  "scenarios/DatabaseAway",
  "scenarios/SharedLimits",
  "postgres/Refusals",
  "scenarios/Rush",
  "pricing-properties/MoneyAddsUp",
  "tenancy/PlantedLeak",
  "scenarios/Shutdown",
  "scenarios/Topology",
  "postgres/StartAndStop",
  "scenarios/DatabaseRestart",
  "events/RelayKills",
  "import-export/ImportKill",
  "media/MediaKills",
  "media/LargeUpload",
  "import-export/ImportExportCommand",
  "scenarios/Readiness",
  "retention/Retention",
  "postgres/Binaries",
  "access/ApiKeys",
  "tax/TaxService",
  "scenarios/Traces",
  "auth/SessionsHttp",
  "payments/StripeProvider",
  "payments/StripeAccounts"
]

/** Short files that are begun after each long one: what waits for others leaves the processor to them. */
const between = 3

const rankOf = ({ moduleId, project }: TestSpecification): number => {
  const name = relative(`${project.config.root}/test`, moduleId).replaceAll("\\", "/").replace(
    /(\.crash)?\.test\.ts$/,
    ""
  )
  return long.indexOf(name)
}

/** The order of the files of a run: the longest first, with short ones among them. */
export class LongOnesFirst extends BaseSequencer {
  override async sort(files: Array<TestSpecification>): Promise<Array<TestSpecification>> {
    const known = await super.sort(files)
    const short = known.filter((file) => rankOf(file) < 0)
    const ordered = known.filter((file) => rankOf(file) >= 0).toSorted((a, b) => rankOf(a) - rankOf(b))
    return [...ordered.flatMap((file) => [file, ...short.splice(0, between)]), ...short]
  }
}
