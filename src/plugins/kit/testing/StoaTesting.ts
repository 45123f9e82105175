/** The test kit for plugins (docs/plugins.md): a whole service in the process of the test, and checks that every plugin gets. */
export { optionsTable } from "../PluginOptions.ts"
export { type Builders, buildersOf } from "./Builders.ts"
export { ledgerOf, wrongAccounts } from "./LedgerContract.ts"
export { machineOf, type MachineOptions } from "./MachineChecks.ts"
export { contractOf, type PluginCheck, type SampleRows } from "./PluginContract.ts"
export {
  createPluginTestApp,
  type PluginTestApp,
  type PluginTestOptions,
  type TestAnswer,
  type TestRequest
} from "./PluginTestApp.ts"
export { type RacedRequest, raceOf } from "./Race.ts"
export {
  inOrganization,
  jsonHeaders,
  type TestActor,
  testAdminActor,
  testCustomerActor,
  testNoPermActor,
  testStaffActor,
  withPermissions
} from "./TestActors.ts"
export type { TestServer } from "./TestDatabase.ts"
