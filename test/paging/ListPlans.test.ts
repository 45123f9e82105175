import { listPlans } from "./ListPlans.ts"

listPlans(Number(process.env["STOA_LIST_ROWS"] ?? 20_000))
