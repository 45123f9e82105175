import { runEmulated } from "../../../../test/support/EmulatedProgram.ts"
import { pos } from "../../pos/index.ts"
import { posRestaurant } from "../index.ts"

runEmulated({ auth: { apiKeys: { enabled: true } }, plugins: [pos(), posRestaurant()] })
