export { Records } from "../../../viz/explorer/src/data";
export { answerPlan, pathsOf, profilePlan } from "../../../viz/explorer/src/plans";
