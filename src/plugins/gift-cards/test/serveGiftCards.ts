import { runEmulated } from "../../../../test/support/EmulatedProgram.ts"
import { giftCards } from "../index.ts"

runEmulated({ plugins: [giftCards({ holdHours: 1 })] })
