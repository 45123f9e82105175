import { readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { checkoutFiles } from "./CheckoutFiles.ts"
import { figures } from "./Figures.ts"

/*
 * `npm run size` prints how large the code is beside what `limits.json` allows, and fails where a figure is above it.
 * `-- --lower` writes today's figures as the limits where they are better; `-- --files` lists the files of a checkout.
 */
const limitsFile = join(import.meta.dirname, "limits.json")
const limits: Readonly<Record<string, number>> = JSON.parse(readFileSync(limitsFile, "utf8"))
const options = new Set(process.argv.slice(2))

const files = await checkoutFiles()
if (options.has("--files")) console.log(files.join("\n"))
const now: Readonly<Record<string, number>> = { ...figures(), "files run by a checkout": files.length }

for (const [name, figure] of Object.entries(now)) {
  const limit = limits[name] ?? Number.POSITIVE_INFINITY
  console.log(
    `${figure > limit ? "ABOVE " : "      "}${name.padEnd(42)}${String(figure).padStart(8)}${
      String(limit).padStart(10)
    }`
  )
  if (figure > limit) process.exitCode = 1
}
if (options.has("--lower")) {
  const lowered = Object.entries(now).map(([name, figure]) => [name, Math.min(figure, limits[name] ?? figure)])
  writeFileSync(limitsFile, `${JSON.stringify(Object.fromEntries(lowered), null, 2)}\n`)
}
process.exit()
