import { registerHooks } from "node:module"
import { mutantOf, withoutFilter } from "./TenantFilter.ts"

/** `node --import` this: the process runs with the filter taken out that STOA_MUTANT names. */
const { file, n } = mutantOf(process.env["STOA_MUTANT"] ?? "")

registerHooks({
  load: (url, context, next) => {
    const loaded = next(url, context)
    if (file === "" || !url.endsWith(`/${file}`) || loaded.source === undefined || loaded.source === null) return loaded
    const source = typeof loaded.source === "string" ? loaded.source : new TextDecoder().decode(loaded.source)
    return { ...loaded, source: withoutFilter(source, n) }
  }
})
