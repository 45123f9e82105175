import { it } from "@effect/vitest"
import { replaceOneByOne } from "../scenarios/ReplacedProcesses.ts"

it.live(
  "five processes behind a proxy lose no request while each is replaced three times",
  () => replaceOneByOne({ processes: 5, times: 3 })
)
