import { runEmulated } from "./EmulatedProgram.ts"

runEmulated()
