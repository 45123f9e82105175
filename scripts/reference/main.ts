import { mkdirSync, writeFileSync } from "node:fs"
import { dirname } from "node:path"
import { pagePath, referencePage } from "./Page.ts"

/* `npm run reference` writes the reference for plugins. */
mkdirSync(dirname(pagePath), { recursive: true })
writeFileSync(pagePath, referencePage())
