import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { pagePath, referencePage } from "./Page.ts"

/* `npm run reference` writes the reference for plugins; with `--print` it goes to the standard output instead. */
const page = referencePage()
if (process.argv.includes("--print")) process.stdout.write(page)
else {
  mkdirSync(dirname(pagePath), { recursive: true })
  writeFileSync(pagePath, page)
}
