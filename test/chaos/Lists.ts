import { listPlans } from "../paging/ListPlans.ts"

/** What `test/paging/ListPlans.test.ts` asks of tables that are small enough for every run. */
listPlans(Number(process.env["STOA_CHAOS_LISTS"] ?? 1_000_000), console.log)
