import { runEmulated } from "../../../../test/support/EmulatedProgram.ts"
import { giftCards } from "../../gift-cards/index.ts"
import { pos } from "../index.ts"

runEmulated({ auth: { apiKeys: { enabled: true } }, plugins: [giftCards({ holdHours: 1 }), pos()] })
