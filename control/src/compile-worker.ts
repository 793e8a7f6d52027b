/** The process in which projects are compiled: one message in, one out, no state between them. */
import { type CompileResult, compile, type Project } from '@gw/gateway/compiler';
import { answerTasks } from './task-process.ts';

answerTasks<Project, CompileResult>(compile);
