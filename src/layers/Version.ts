import { createRequire } from "node:module"

const manifest: { readonly version: string } = createRequire(import.meta.url)("../../package.json")

/** Version of the service, as the health route and the command line show it. */
export const version = manifest.version
