import { defineConfig } from "vitest/config"
import base from "./vitest.config.ts"

/** Writes the dump that the upgrades of later versions are tested with: `npm run release:keep`. */
export default defineConfig({
  ...base,
  test: { ...base.test, include: ["test/releases/KeepRelease.ts"], maxWorkers: 1 }
})
