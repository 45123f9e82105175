import { createRequire } from "node:module"

const manifest: { readonly version: string } = createRequire(import.meta.url)("../../package.json")

export const version = manifest.version
